import type { ApiKey } from '@backstop/client'
import { Badge } from '../../parts/badges.tsx'

const SOON_MS = 7 * 24 * 60 * 60_000

export function KeyState({ apiKey: { state, expires_at } }: { apiKey: ApiKey }) {
  if (state === 'revoked') return <Badge tone="quiet">Revoked</Badge>
  if (state === 'expired') return <Badge tone="quiet">Expired</Badge>
  const isSoon = expires_at !== null && Date.parse(expires_at) - Date.now() < SOON_MS
  return isSoon ? <Badge tone="waits">Expires soon</Badge> : <Badge tone="good">Active</Badge>
}
