"""Labels that nobody made, predicted from those somebody did."""
