print("blewedge")
