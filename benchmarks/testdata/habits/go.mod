module habits

go 1.22
