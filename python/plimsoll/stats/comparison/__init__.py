"""Is one thing slower than another, and which of many?"""
