"""What the board's database and the index store have in common: engines, migrations, and the words of their errors."""
