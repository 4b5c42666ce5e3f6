"""What several verbs take, and how its words become values."""
