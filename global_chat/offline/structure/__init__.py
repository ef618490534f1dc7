"""The workflow agent by rule: requests on structure to a whole changed workflow, or an answer."""
