"""The command line's groups, one file each; ``cli.py`` lists them and loads what is used."""
