import { TextInput } from '@mantine/core'

interface Props {
  label: string
  /** A day as `2026-11-23`. */
  value: string | undefined
  onChange: (day: string | undefined) => void
}

/** A filter with a day of the reader's zone. */
export function DayFilter({ label, value, onChange }: Props) {
  return (
    <TextInput
      type="date"
      size="xs"
      aria-label={label}
      leftSection={<span className="faint">{label}</span>}
      leftSectionWidth={48}
      value={value ?? ''}
      onChange={event => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
    />
  )
}

export function startOfDay(day: string): string {
  return new Date(`${day}T00:00:00`).toISOString()
}

/** The start of the next day, because `to` excludes its time. */
export function endOfDay(day: string): string {
  const start = new Date(`${day}T00:00:00`)
  return new Date(start.getFullYear(), start.getMonth(), start.getDate() + 1).toISOString()
}
