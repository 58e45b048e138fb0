"""Finds candidate files, rewrites their regions, and hands on findings; never prints, never exits."""
