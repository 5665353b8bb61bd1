"""The command line's groups, one file each; ``cli.py`` lists them and loads one when it is used."""
