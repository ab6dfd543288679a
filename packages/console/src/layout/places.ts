/** The places of the navigation, and the letter after `g` that opens each. */
export interface Place {
  readonly title: string
  /** The title where the room is short. */
  readonly short?: string
  /** The technical name, shown while the pointer is on the title, and found by Find. */
  readonly about?: string
  /** The path within `/p/:project`, or an absolute path. */
  readonly path: string
  readonly key?: string
  /** On a phone, shown in the bar at the bottom. */
  readonly isOnPhone?: boolean
  /** Shown only to admins, because the API refuses its list to everybody else. */
  readonly isForAdmins?: boolean
}

export const PROJECT_PLACES: readonly (readonly Place[])[] = [
  [
    { title: 'Overview', path: '', key: 'o', isOnPhone: true },
    { title: 'Incidents', path: '/incidents', key: 'i', isOnPhone: true },
    { title: 'Storms', path: '/storms', key: 't' },
    { title: 'Refunds and cancellations', short: 'Refunds', path: '/actions', key: 'r', isOnPhone: true },
    { title: 'Actors', path: '/actors', key: 'w' },
  ],
  [
    { title: 'Operations', path: '/operations', key: 'p' },
    { title: 'Approvals', path: '/approvals', key: 'a', isOnPhone: true },
    { title: 'Budgets', path: '/budgets', key: 'b' },
    { title: 'Expected changes', path: '/expected-changes', key: 'e' },
  ],
  [
    { title: 'Statements', path: '/statements', key: 'm' },
    { title: 'Completeness', path: '/completeness', key: 'q' },
    { title: 'What would alert', about: 'Dry run', path: '/dry-run', key: 'd' },
  ],
  [
    { title: 'Connections', path: '/connections', key: 'c' },
    { title: 'Channels', path: '/channels', key: 'n' },
    { title: 'Settings', path: '/settings', key: 's' },
  ],
]

export const SYSTEM_PLACES: readonly Place[] = [
  { title: 'System', path: '/system', key: 'y' },
  { title: 'Projects', path: '/system/projects' },
  { title: 'API keys', path: '/system/keys', key: 'k', isForAdmins: true },
  { title: 'People', path: '/system/people', key: 'u', isForAdmins: true },
  { title: 'Sessions', path: '/system/sessions' },
  { title: 'Audit', path: '/system/audit', key: 'l', isForAdmins: true },
  { title: 'Dead letters', path: '/system/dead-letters' },
]

/** The places below System that the reader may open. */
export function systemPlacesFor(isAdmin: boolean): readonly Place[] {
  return SYSTEM_PLACES.filter(({ isForAdmins = false }) => isAdmin || !isForAdmins)
}
