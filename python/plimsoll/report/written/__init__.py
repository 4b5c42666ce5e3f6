"""A report as the kind of file that its name asks for: the page, Markdown, a PDF, or the findings as JSON."""
