"""Rewards of actions that were not taken, estimated from observations."""
