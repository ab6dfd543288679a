/** A form of a call, and what a reporter says of it. */
// The majors have different types, and some forms are refused by every type.
// biome-ignore lint/suspicious/noExplicitAny: the forms are those of JavaScript
export type AnyClient = any

export interface Form {
  readonly name: string
  /** @param callback for forms that take one */
  call(client: AnyClient, callback: (...args: unknown[]) => void): unknown
  /** The last report without connection, key and times, if the library sends a request; null if there must be none. */
  readonly reported: Readonly<Record<string, unknown>> | null
  /** Statuses of the first answers. */
  readonly failing?: readonly number[]
}
