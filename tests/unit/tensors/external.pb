Bxj
location../elsewherep