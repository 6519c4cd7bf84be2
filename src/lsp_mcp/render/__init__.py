"""Results → what a model reads: `document` makes the published JSON, `compact` the short text."""
