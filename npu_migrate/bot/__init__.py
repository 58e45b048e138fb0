"""The bot that comments on pull requests: one summary, kept current, and suggestions where they apply."""
