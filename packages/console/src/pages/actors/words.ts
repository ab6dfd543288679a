import type { ShownActor } from '@backstop/client'

export const KINDS = [
  { value: 'api_key', label: 'API key' },
  { value: 'dashboard_user', label: 'User of the dashboard' },
  { value: 'hosted_page', label: 'Hosted page' },
  { value: 'provider', label: 'The provider itself' },
  { value: 'key_prefix', label: 'Idempotency keys' },
] as const satisfies readonly { value: NonNullable<ShownActor['kind']>; label: string }[]

export const ROLES = [
  { value: 'ours', label: 'Our software' },
  { value: 'person', label: 'Person' },
  { value: 'agent', label: 'Agent' },
  { value: 'canary', label: 'Canary' },
  { value: 'unknown', label: 'Unknown' },
] as const satisfies readonly { value: ShownActor['role']; label: string }[]

export function roleWord(role: ShownActor['role']): string {
  return ROLES.find(({ value }) => value === role)?.label ?? role
}

/** What the provider says of an actor: "API key mk_1". */
export function providerWords({ kind, label, account }: Pick<ShownActor, 'kind' | 'label' | 'account'>): string {
  const what = KINDS.find(({ value }) => value === kind)?.label ?? 'No longer known'
  return [label === null ? what : `${what} ${label}`, account].filter(Boolean).join(', ')
}
