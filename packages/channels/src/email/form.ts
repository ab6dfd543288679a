import { z } from 'zod'
import { channelForm } from '../form.ts'

export interface EmailConfig {
  kind: 'email'
  to: string[]
}

const Recipients = z.array(z.email().max(254)).min(1).max(50)

export const emailForm = channelForm({
  input: z.strictObject({ kind: z.literal('email'), to: Recipients }),
  shown: z.object({ kind: z.literal('email'), to: z.array(z.string()) }),
  patch: { to: Recipients.optional().describe('email: replaces all addresses') },
  urls: [],
  target: ['to'],
  seal: ({ to }): EmailConfig => ({ kind: 'email', to }),
  change: (stored, { to = stored.to }) => ({ ...stored, to }),
  reseal: stored => stored,
  show: ({ to }) => ({ kind: 'email', to }),
  erase: stored => ({ ...stored, to: [] }),
})
