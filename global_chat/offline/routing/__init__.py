"""The router: where a request goes, how sure that is, and which step it means."""
