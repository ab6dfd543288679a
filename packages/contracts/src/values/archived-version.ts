import { z } from 'zod'

/** No younger action is archived, in days: as long as the inbox knows the events of an action. By then its personal data was erased. */
export const MIN_ARCHIVE_DAYS = 400
/** The most actions of one part of an archive. */
export const MAX_ARCHIVED_AT_ONCE = 10_000

/** One version of an action, which an archive holds. */
export const ArchivedVersion = z.object({ action_id: z.string().max(255), version: z.int() })
export type ArchivedVersion = z.infer<typeof ArchivedVersion>

/** The text whose SHA-256 is `versions_sha256`: a line for each action. */
export function archivedVersionLine({ action_id, version }: ArchivedVersion): string {
  return `${action_id} ${version}\n`
}
