/** The kinds of incidents in words. */
export const INCIDENT_CODES = [
  { value: 'UNEXPECTED_ACTION', label: 'Unexplained refund or cancellation' },
  { value: 'CHANNEL_DISABLED', label: 'Channel disabled' },
  { value: 'CHANNEL_FAILING', label: 'Channel delivers nothing' },
  { value: 'REFUND_REJECTED', label: 'Refund rejected' },
  { value: 'VERIFICATION_UNAVAILABLE', label: 'Provider cannot be read' },
  { value: 'FEED_SILENT', label: 'Feed silent' },
  { value: 'KEY_EXPIRING', label: 'API key expires' },
  { value: 'KEY_RECOVERED', label: 'Admin key recovered' },
] as const
