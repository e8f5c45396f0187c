// An app that uses MartletGuests alone.
import MartletGuests

let guest = Guest(id: "7", name: "Ada")
print("Hello, \(guest.name ?? guest.id)!")
