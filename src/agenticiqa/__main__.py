"""`python -m agenticiqa`, where the console script is not on the path."""

from agenticiqa.cli import main

if __name__ == "__main__":
    main()
