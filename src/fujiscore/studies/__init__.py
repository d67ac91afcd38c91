"""Data files and data sets, until they move to io."""
