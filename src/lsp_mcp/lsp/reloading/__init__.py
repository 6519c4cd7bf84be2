"""Ways to make servers read files again if a notification is not enough."""
