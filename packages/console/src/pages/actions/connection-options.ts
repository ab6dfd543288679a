import type { Connection } from '@backstop/client'

interface Option {
  readonly value: string
  readonly label: string
}

/** The connections to choose from. The chosen one is among them, also if it was deleted: the page shows its numbers. */
export function connectionOptions(
  connections: readonly Pick<Connection, 'connection_id' | 'name'>[],
  chosen: { readonly id: string | undefined; readonly name: string | undefined },
): Option[] {
  const options = connections.map(({ connection_id, name }) => ({ value: connection_id, label: name }))
  const { id, name = id } = chosen
  if (id === undefined || name === undefined || options.some(({ value }) => value === id)) return options
  return [{ value: id, label: name }, ...options]
}
