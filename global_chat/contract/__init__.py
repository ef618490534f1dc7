"""Plain data that every room shares: payload, response, attachments, events, errors, settings."""
