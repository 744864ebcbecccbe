"""What an answer must do: a file for each lesson, and what they share."""
