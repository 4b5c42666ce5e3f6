"""From a recording of a browser: its requests, with ids from earlier answers."""
