/** Made-up names of customers. */
const NAMES = [
  ['Ada', 'Okafor'],
  ['Bruno', 'Lindqvist'],
  ['Chiara', 'Moretti'],
  ['Dmitri', 'Novak'],
  ['Elif', 'Yıldız'],
  ['Fatou', 'Diallo'],
  ['Grace', "O'Neill"],
  ['Hiro', 'Tanaka'],
  ['Ines', 'Söhne'],
  ['João', 'Pereira'],
] as const

/** The first and last name of a customer. They follow from the customer's id, so that a name takes no random value. */
export function nameOfCustomer(id: string): readonly [first: string, last: string] {
  let sum = 0
  for (const character of id) sum += character.charCodeAt(0)
  return NAMES[sum % NAMES.length] ?? NAMES[0]
}
