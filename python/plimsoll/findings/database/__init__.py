"""What takes the database's time?"""
