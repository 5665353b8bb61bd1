"""The console's pages as a browser without script gets them."""
