import type { Role, Scope } from '../../api/system.ts'

/** The roles as in docs/access.md. A role may do everything that the roles before it may do. */
export const ROLES: readonly { value: Role; label: string; may: string }[] = [
  { value: 'viewer', label: 'Viewer', may: 'Read everything' },
  { value: 'responder', label: 'Responder', may: 'Acknowledge, assign and resolve incidents' },
  { value: 'approver', label: 'Approver', may: 'Approve and decline operations' },
  { value: 'manager', label: 'Manager', may: 'Change connections, channels, budgets and expected changes' },
  { value: 'admin', label: 'Admin', may: 'Change projects, API keys and people, and read the audit' },
]

export function nameRole(role: Role): string {
  return ROLES.find(({ value }) => value === role)?.label ?? role
}

export const SCOPES: readonly { value: Scope; label: string; may: string }[] = [
  { value: 'read', label: 'Read', may: 'Read everything' },
  { value: 'operations:write', label: 'Report operations', may: 'Report refunds and cancellations of your software' },
  { value: 'incidents:write', label: 'Work on incidents', may: 'Acknowledge, assign and resolve incidents' },
  { value: 'approvals:write', label: 'Decide approvals', may: 'Approve and decline operations' },
  { value: 'manage', label: 'Manage', may: 'Change connections, channels, budgets and expected changes' },
  { value: 'admin', label: 'Admin', may: 'Everything, also projects, API keys and people' },
]

export function nameScopes(scopes: readonly Scope[]): string {
  return SCOPES.filter(({ value }) => scopes.includes(value))
    .map(({ label }) => label)
    .join(', ')
}

/** The browser and the system of a User-Agent, as far as they can be recognised. */
export function nameBrowser(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown browser'
  const browser = [
    ['Edg/', 'Edge'],
    ['OPR/', 'Opera'],
    ['Firefox/', 'Firefox'],
    ['Chrome/', 'Chrome'],
    ['Safari/', 'Safari'],
  ].find(([mark = '']) => userAgent.includes(mark))?.[1]
  const system = [
    ['Android', 'Android'],
    ['iPhone', 'iPhone'],
    ['iPad', 'iPad'],
    ['Windows', 'Windows'],
    ['Mac OS X', 'macOS'],
    ['Linux', 'Linux'],
  ].find(([mark = '']) => userAgent.includes(mark))?.[1]
  if (browser === undefined) return userAgent.split(/[\s/]/)[0] || 'Unknown browser'
  return system === undefined ? browser : `${browser} on ${system}`
}

export const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'Never' },
]

/** The end of a key in the body of a request. @param days a value of LIFETIMES */
export function expiryOf(days: string): { expires_in_days?: number } {
  return days === '' ? {} : { expires_in_days: Number(days) }
}
