/**
 * An object of the simulator with fixed values instead of random ids and computed times, wherever one of these is in it.
 * @param values the texts to replace, each with what replaces it
 */
export function withFixedValues<T>(object: T, values: Readonly<Record<string, string>>): { [Key in keyof T]: T[Key] } {
  const text = Object.entries(values).reduce(
    (rest, [made, value]) => rest.replaceAll(made, value),
    JSON.stringify(object),
  )
  return JSON.parse(text)
}
