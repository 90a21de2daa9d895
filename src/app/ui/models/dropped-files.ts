/** Returns the dropped files and the files in dropped folders. Must be called before anything is awaited. */
export async function droppedFiles(data: DataTransfer): Promise<File[]> {
  const dropped = [...data.items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const files = await Promise.all(dropped.map(filesOf));
  return files.flat();
}

/** Returns the files directly in a folder, where a model's files are. */
async function filesOf(entry: FileSystemEntry | File | null): Promise<File[]> {
  if (entry === null) return [];
  if (entry instanceof File) return [entry];
  if (isFile(entry)) return [await fileOf(entry)];
  if (!isFolder(entry)) return [];
  const inside = await allEntries(entry.createReader());
  return Promise.all(inside.filter(isFile).map(fileOf));
}

/** A reader returns some entries at a time, and none at the end. */
async function allEntries(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  return some.length === 0 ? [] : [...some, ...(await allEntries(reader))];
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
