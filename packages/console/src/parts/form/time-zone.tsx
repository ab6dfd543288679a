import { Select } from '@mantine/core'

interface Props {
  label: string
  description?: string
  value: string
  onChange: (zone: string) => void
}

/** A choice of the time zones that the browser knows, and the present one. */
export function TimeZoneSelect({ value, onChange, ...texts }: Props) {
  const zones = Intl.supportedValuesOf('timeZone')
  return (
    <Select
      {...texts}
      searchable
      allowDeselect={false}
      limit={50}
      data={zones.includes(value) ? zones : [value, ...zones]}
      value={value}
      onChange={zone => zone !== null && onChange(zone)}
    />
  )
}
