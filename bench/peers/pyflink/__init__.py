"""Plain PyFlink jobs in thread mode, its fastest way to run Python."""
