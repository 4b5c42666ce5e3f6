"""Findings and run directories in, pages and text out; nothing here measures or judges.

    html.write_html          one self-contained page of a run
    text.answer_lines        the same answers as plain lines for a terminal
    json_out.findings_json   the findings as JSON for machines

Heavy libraries (vl-convert, Jinja2, numpy) are imported when a page is written and not before.
"""
