"""The command line: ``codt fit`` and the other commands, their options, files and printed summaries."""
