"""The ledger of the field: what the product claims, measured on pictures and opinions that nobody here made."""
