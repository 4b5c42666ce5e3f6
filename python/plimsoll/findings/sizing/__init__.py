"""What hardware does it need?"""
