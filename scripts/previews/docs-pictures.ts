/** The pictures of samples in docs/pictures: one unexplained refund for each kind of channel that people read. */
export const DOCS_PICTURES = [
  { sample: 'email.incident.opened', look: 'light' },
  { sample: 'email.incident.opened', look: 'dark' },
  { sample: 'email.incident.opened', look: 'phone' },
  { sample: 'slack.incident.opened', look: 'light' },
  { sample: 'teams.incident.opened', look: 'light' },
  { sample: 'discord.incident.opened', look: 'dark' },
  { sample: 'pagerduty.incident.opened', look: 'light' },
] as const
