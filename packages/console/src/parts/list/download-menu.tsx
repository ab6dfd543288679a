import { Button, Menu } from '@mantine/core'

interface Props {
  /** The path of the list at the management API, for example `/v1/actions`. */
  path: string
  /** The filters of the list that is shown. */
  query: Readonly<Record<string, string | number | undefined>>
}

/** Downloads a whole list with its filters, as CSV for spreadsheets or NDJSON for programs. */
export function DownloadMenu({ path, query }: Props) {
  const hrefOf = (format: string) => {
    const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
    return `${path}?${new URLSearchParams([...given, ['format', format]])}`
  }
  const name = path.split('/').at(-1)
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default">Download</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={hrefOf('csv')} download={`${name}.csv`}>
          CSV, for spreadsheets
        </Menu.Item>
        <Menu.Item component="a" href={hrefOf('ndjson')} download={`${name}.ndjson`}>
          NDJSON, for programs
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
