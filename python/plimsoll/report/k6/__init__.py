"""What a run of a k6 script ended with: k6's own summary and export, and the outcome on page and screen."""
