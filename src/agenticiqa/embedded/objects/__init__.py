"""What is in a picture and where: 80 classes of things, faces with their eyes, the main subject.

The three models are loaded when something is asked for by name, never before.
"""
