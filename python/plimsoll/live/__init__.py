"""What is shown of a load while it goes on, as plain data: by the terminal (cli/live/) and the live page (ui/)."""
