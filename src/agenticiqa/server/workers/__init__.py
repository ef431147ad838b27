"""The processes that assess, and the threads that mind them."""
