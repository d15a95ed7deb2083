"""What every fitted model can do, however it was fitted."""
