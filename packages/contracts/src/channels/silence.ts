/** The silence of these that covers a time; undefined if none does. It begins with its creation, and its end is exclusive. */
export function findSilenceAt<S extends { readonly created_at: Date; readonly ends_at: Date }>(
  silences: readonly S[],
  at: Date,
): S | undefined {
  return silences.find(({ created_at, ends_at }) => created_at <= at && at < ends_at)
}
