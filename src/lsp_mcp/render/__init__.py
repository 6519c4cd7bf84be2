"""Results as text for a model: `document` makes the published JSON, `compact` the short text."""
