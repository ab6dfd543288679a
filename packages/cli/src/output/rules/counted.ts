/** A number with its noun: `1 incident`, `2 incidents`, `0 incidents`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
